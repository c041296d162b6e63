# docker build -t swizproof . && docker run --rm -v "$PWD:/work" swizproof prove layouts.toml
# The program on a small Debian, with a shell for CI jobs; `--target minimal` is the program and no more, on an empty image.
# tests/package/image runs these steps in a root of Debian where there is no Docker.
FROM debian:12-slim AS build
COPY . /swizproof
WORKDIR /swizproof
RUN ./run install /opt/swizproof --bundle

FROM scratch AS minimal
COPY --from=build /opt/swizproof /opt/swizproof
WORKDIR /work
ENTRYPOINT ["/opt/swizproof/bin/swizproof"]

FROM debian:12-slim
COPY --from=build /opt/swizproof /usr/local
WORKDIR /work
ENTRYPOINT ["swizproof"]
