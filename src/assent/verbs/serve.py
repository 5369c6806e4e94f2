"""serve: the page of a review, for people with a browser."""

import socket
from collections.abc import Callable, Mapping, Sequence

from assent.reporting.looks import house_style
from assent.reviewing.page.app import application
from assent.reviewing.page.serving import bound_to
from assent.reviewing.page.serving import serve as serve_application
from assent.reviewing.page.tokens import refuse_reviewers, tokens_of
from assent.reviewing.session import Review


def door(reviewers: Sequence[str], host: str, port: int) -> socket.socket:
    """Where the page of a review will be served; who or where it cannot be is refused.

    To be called before a review begins, which cannot be begun twice.
    """
    refuse_reviewers(reviewers)
    return bound_to(host, port)


def serve(
    review: Review,
    reviewers: Sequence[str],
    bound: socket.socket,
    *,
    host: str = "127.0.0.1",
    names: Sequence[str] = (),
    ready: Callable[[Mapping[str, str]], None],
) -> None:
    """Serves the page of a review until a signal ends it; `door` made the socket, for this host.

    Only this machine is answered unless another `host` is given; `names` are further names by which
    people reach it. `ready` is told the address of each reviewer, which nobody else should have.
    """
    title = review.folder.resolve()
    tokens = tokens_of(reviewers, review.labels.path.parent)
    serve_application(
        application(review, f"{title.parent.name}/{title.name}", house_style()),
        tokens,
        bound,
        host=host,
        names=names,
        ready=ready,
    )
