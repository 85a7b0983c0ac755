"""One archive for a support ticket: a case directory, and the raw evidence where wanted.

``case.json`` and the tables lie at the top of the archive, ``pack.json`` says what it is, and the raw evidence lies
below ``evidence/``. So what is unpacked is a case directory again.
"""
