"""`rlvr sandbox`: build the image that programs run in, and check that they are contained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

sandbox_app = typer.Typer(
    name="sandbox",
    help="The Docker sandbox that model-written programs run in.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="PACKAGE", help="A package to install with pip, as numpy or numpy==2.1; repeatable."
    ),
]
Dockerfile = Annotated[
    Path | None,
    typer.Option("--dockerfile", metavar="FILE", help="Start from this Dockerfile, which must give python3."),
]
BaseImage = Annotated[
    str | None, typer.Option("--base-image", metavar="NAME", help="Start from this image, which must have python3.")
]
DockerHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--docker-host",
        metavar="URL",
        help="unix:///path, tcp://host:port or ssh://user@host; repeatable. Default: the one that docker itself uses.",
    ),
]


@sandbox_app.command()
def build(
    packages: Packages = None,
    dockerfile: Dockerfile = None,
    base_image: BaseImage = None,
    docker_hosts: DockerHosts = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove the images of earlier builds afterwards.")] = False,
) -> None:
    """Build the image, from this machine's own Python by default: no registry is needed. Nothing is done twice.

    What is built lies ready for `image` and `packages` of the same values in a configuration.
    """
    from sandbox.engine import connect
    from sandbox.image import build_image, remove_old_images

    source = _source(dockerfile, base_image)
    for url in docker_hosts or [None]:
        engine = connect(url)
        try:
            image = build_image(engine, source=source, packages=packages or [])
            ready = "built" if image.built_s is not None else "was there already"
            typer.echo(f"{image.tag} {ready} on {engine.url}: {image.source}, {image.size_mb:.0f} MB")
            if prune:
                removed = remove_old_images(engine, keep=[image.tag])
                typer.echo(f"removed {', '.join(removed) or 'no other image'}")
        finally:
            engine.close()


@sandbox_app.command()
def check(
    packages: Packages = None,
    dockerfile: Dockerfile = None,
    base_image: BaseImage = None,
    docker_hosts: DockerHosts = None,
    runtime: Annotated[
        str | None, typer.Option("--runtime", metavar="NAME", help="The OCI runtime, for instance runsc.")
    ] = None,
) -> None:
    """Run honest and hostile programs in the sandbox and say what came of them; exits with 1 where a check failed."""
    from sandbox.conformance import self_check
    from sandbox.docker_sandbox import DockerSandbox

    source = _source(dockerfile, base_image)
    failed = 0
    for url in docker_hosts or [None]:
        if url is not None:
            typer.echo(f"{url}:")
        hosts = [url] if url is not None else []
        with DockerSandbox(docker_hosts=hosts, image=source, packages=packages or [], runtime=runtime) as sandbox:
            checks = self_check(sandbox, report=typer.echo)
        failed += sum(not check.passed for check in checks)
        typer.echo(f"{sum(check.passed for check in checks)} of {len(checks)} checks passed")
    if failed:
        typer.echo("do not run programs that a model wrote on this engine until every check passes", err=True)
        raise typer.Exit(1)


def _source(dockerfile: Path | None, base_image: str | None) -> str:
    """Return what `build_image` calls the source."""
    if dockerfile is not None and base_image is not None:
        raise typer.BadParameter("give --dockerfile or --base-image, not both")
    if dockerfile is not None:
        return f"dockerfile:{dockerfile}"
    return f"image:{base_image}" if base_image is not None else "auto"
