"""python -m laconic"""

from laconic.cli.main import main

if __name__ == "__main__":
    main()
