# docker build -t assent .
# docker run --rm assent              the demonstration (make demo)
# docker run --rm assent make test    every check
FROM python:3.11-slim-bookworm

# make runs the two commands, git is asked by a few tools, chromium looks at the report in the tests
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /assent
COPY . .

# Without a GPU, give the index of torch's CPU builds (pytorch.org names it); else several GB of
# CUDA libraries come with torch: docker build --build-arg PIP_EXTRA_INDEX_URL=...
ARG PIP_EXTRA_INDEX_URL
RUN make setup

CMD ["make", "demo"]
