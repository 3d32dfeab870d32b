"""`python -m triplestore.cli` is the command `triplestore`."""

from triplestore.cli import main

if __name__ == "__main__":
    main()
