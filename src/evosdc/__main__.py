"""`python -m evosdc`: the command line where the script is not on the path."""

from evosdc.cli import main

if __name__ == "__main__":
    main()
