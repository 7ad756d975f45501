"""Two wrong calls, each of which a type checker must report; scripts/check_stubs.sh counts the errors."""

from alir2hdl import Model
model = Model.from_matrix([[1]], "s8.2")
model.compile(pipelin=3)
model.compile(reset="maybe")
