"""What the local web server of these tests answers."""


class Web:
    """What the local server answers: path → body, and paths whose body is cut short."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.truncated: set[str] = set()
        self.requests: list[str] = []
        self.url = ""
