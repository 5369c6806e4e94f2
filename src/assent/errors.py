"""What can go wrong in a way that a user can mend: one clear line, exit code 2."""

DEBUGGING = "ASSENT_DEBUG"  # in the environment, by --debug: other programs' words are shown, too


class AssentError(Exception):
    """Says where it went wrong, what was found, and what would be right."""


class DataError(AssentError):
    """A file or graph that cannot be used as it is."""


class PlaceError(DataError):
    """A place that cannot be written to."""


class ConfigError(AssentError):
    """A setting that does not exist, or a value that it cannot take."""


class FetchError(AssentError):
    """A download that failed or brought the wrong bytes."""


class TrainingError(AssentError):
    """A training that cannot go on."""


class ModelFileError(AssentError):
    """An error in the code of a user's own model."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came: the same as Ctrl-C, with another exit code."""


class StoppedError(AssentError):
    """Work that was asked to stop, and can be taken up again."""

    def __init__(self, message: str, signal: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal
