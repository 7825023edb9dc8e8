"""A bill of materials: what is in the program, as CycloneDX 1.6."""

import json
import tomllib
from datetime import datetime, timezone
from uuid import UUID, uuid5

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from product import ROOT, printed

# A name space of our own: the same contents have the same number.
SPACE = UUID("6f6b2b0e-5d2f-4c0a-9c57-1b6b9a1f0e11")


def packages(platform):
    """The packages that are in the program, each with those that it needs; the program's own is the first."""
    asked = ("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", platform.triple)
    told = json.loads(printed(*asked, cwd=ROOT))
    every = {it["id"]: it for it in told["packages"]}
    nodes = {it["id"]: it for it in told["resolve"]["nodes"]}
    needs, wanted = {}, [next(id for id, it in every.items() if it["name"] == "epitome-cli")]
    while wanted:
        one = wanted.pop()
        if one not in needs:
            # What only tests and building need is not in the program.
            needs[one] = [it["pkg"] for it in nodes[one]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]
            wanted += needs[one]
    return [(every[id], [every[it] for it in deps]) for id, deps in needs.items()]


def bill(product, platform, packages, out):
    sums = checksums()
    components = {package["id"]: component(package, sums) for package, _ in packages}
    program, *others = components.values()
    bom = Bom(components=others)
    bom.metadata.component = program
    bom.metadata.timestamp = datetime.fromtimestamp(product.moment, timezone.utc)
    bom.serial_number = uuid5(SPACE, "\n".join(sorted(str(it.purl) for it in components.values())) + platform.triple)
    for package, deps in packages:
        bom.register_dependency(components[package["id"]], [components[it["id"]] for it in deps])
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        raise SystemExit(f"the bill of materials is none: {wrong}")
    path = out / f"epitome-{product.version}-{platform.triple}.cdx.json"
    path.write_text(text + "\n")
    return path


def checksums():
    """SHA-256 of each package of a registry, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(it["name"], it["version"]): it["checksum"] for it in lock["package"] if "checksum" in it}


def component(package, sums):
    name, version = package["name"], package["version"]
    digest = sums.get((name, version))
    licence = package.get("license")
    return Component(
        name=name,
        version=version,
        type=ComponentType.APPLICATION if name == "epitome-cli" else ComponentType.LIBRARY,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("cargo", name=name, version=version),
        # Older packages write `A/B` for `A OR B`.
        licenses=[LicenseFactory().make_from_string(licence.replace("/", " OR "))] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
    )
