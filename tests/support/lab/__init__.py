"""What the lab's tests have in common: real ranks to compare with, and the opened sets."""

import pytest

# A failure shall show what was compared.
pytest.register_assert_rewrite("support.lab.opened_answers")
