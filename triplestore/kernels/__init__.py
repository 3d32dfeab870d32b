"""The compiled inner loops: arrays in, arrays or counts out. See jit.py for how they compile."""
