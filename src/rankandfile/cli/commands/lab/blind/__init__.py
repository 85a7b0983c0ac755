"""Programs by somebody who has not seen the analyser: scored once, untouched."""

ORDER = 110
