"""`python -m triplestore` is the command `triplestore`."""

from triplestore.cli import main

if __name__ == "__main__":
    main(prog_name="triplestore")
