"""The recurrent cells by number, apart from `cells.py`: whoever only counts parameters need not load the compiler."""

RNN, LSTM, GRU = range(3)
GATES = (1, 4, 3)  # pre-activations per unit
