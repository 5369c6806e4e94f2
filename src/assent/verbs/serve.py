"""serve: the page of a review, for people with a browser."""

from collections.abc import Callable, Mapping, Sequence

from assent.reporting.looks import house_style
from assent.reviewing.page.app import application
from assent.reviewing.page.serving import serve as serve_application
from assent.reviewing.page.tokens import tokens_of
from assent.reviewing.session import Review


def serve(
    review: Review,
    reviewers: Sequence[str],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    names: Sequence[str] = (),
    ready: Callable[[Mapping[str, str]], None],
) -> None:
    """Serves the page of a review until a signal ends it.

    Only this machine is answered unless another `host` is given; `names` are further names by which
    people reach it. `ready` is told the address of each reviewer, which nobody else should have.
    """
    title = review.folder.resolve()
    tokens = tokens_of(reviewers, review.labels.path.parent)
    serve_application(
        application(review, f"{title.parent.name}/{title.name}", house_style()),
        tokens,
        host=host,
        port=port,
        names=names,
        ready=ready,
    )
