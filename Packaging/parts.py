"""What a release is made of: the packages that are linked in, the Debian libraries beside them, their licences."""
import json, os, re, subprocess, uuid

# Sources that a Swift package has copied in: a file that names the version, how it is read, the licence.
VENDORED = [
    ("BoringSSL (swift-nio-ssl)", "swift-nio-ssl/Sources/CNIOBoringSSL/hash.txt", r"revision (\w+)", "Apache-2.0 AND ISC"),
    ("BoringSSL (swift-crypto)", "swift-crypto/Sources/CCryptoBoringSSL/hash.txt", r"revision (\w+)", "Apache-2.0 AND ISC"),
    ("XKCP", "swift-crypto/Sources/CXKCP/vendored-sources.txt", r"-g(\w+)\)", "CC0-1.0"),
    ("llhttp", "swift-nio/Sources/CNIOLLHTTP/include/c_nio_llhttp.h",
     r"(?s)VERSION_MAJOR (\d+).*?VERSION_MINOR (\d+).*?VERSION_PATCH (\d+)", "MIT"),
    # Yams does not say which.
    ("libyaml", "Yams/Sources/CYaml/src/api.c", r"()yaml_malloc", "MIT"),
]
# The licence of a Debian library, by the beginning of its source package's name.
DEBIAN = {
    "glibc": "LGPL-2.1-or-later", "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1", "curl": "curl",
    "postgresql": "PostgreSQL", "qrencode": "LGPL-2.1-or-later", "sqlite3": "blessing", "libxml2": "MIT", "zlib": "Zlib"}


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def licence_of(folder):
    """The file with a package's licence, and its SPDX expression."""
    name = next(name for name in sorted(os.listdir(folder)) if name.upper().startswith("LICENSE"))
    text = open(os.path.join(folder, name), encoding="utf-8").read()
    if "Apache License" in text:
        return text, "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return text, "MIT"
    raise SystemExit(f"release: {folder}/{name} is a licence that Packaging/parts.py does not know")


def swift_packages(checkouts):
    """Name, version, address, licence and its text of every package in Package.resolved, and of Swift itself."""
    for pin in json.load(open("Package.resolved", encoding="utf-8"))["pins"]:
        folder = os.path.join(checkouts, re.sub(r"\.git$", "", os.path.basename(pin["location"])))
        text, licence = licence_of(folder)
        notices = [name for name in sorted(os.listdir(folder)) if name.upper().startswith("NOTICE")]
        text += "".join("\n" + open(os.path.join(folder, name), encoding="utf-8").read() for name in notices)
        yield pin["identity"], pin["state"]["version"], pin["location"], licence, text
    version = re.search(r"Swift version ([\d.]+)", output("swiftc", "--version")).group(1)
    resources = json.loads(output("swiftc", "-print-target-info"))["paths"]["runtimeResourcePath"]
    text, licence = licence_of(os.path.join(resources, "../../share/swift"))
    yield "swift", version, "https://github.com/swiftlang/swift", licence, text


def vendored(checkouts):
    for name, file, pattern, licence in VENDORED:
        path = os.path.join(checkouts, file)
        if not os.path.exists(path):
            raise SystemExit(f"release: there is no {path}; mend VENDORED in Packaging/parts.py")
        found = re.search(pattern, open(path, encoding="utf-8").read())
        if not found:
            raise SystemExit(f"release: {path} names no version; mend VENDORED in Packaging/parts.py")
        yield name, ".".join(found.groups()), licence


def libraries(program):
    """The shared libraries that a program loads, by the name that it asks for: their files."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", program), re.M))
    found.update((path, path) for path in re.findall(r"^\s*(/\S+) \(", output("ldd", program), re.M))
    return found


def debian_packages(files):
    """Package, version and source of the Debian packages that files are of. Others are Swift's, which is listed itself."""
    # dpkg knows many files by the path from before /lib was a link to /usr/lib.
    names = {name for file in files for name in (file, os.path.realpath(file), os.path.realpath(file).removeprefix("/usr"))}
    answer = subprocess.run(["dpkg", "-S", *sorted(names)], capture_output=True, text=True).stdout
    packages = {line.split(": ")[0].split(", ")[0] for line in answer.splitlines()}
    form = "${Package} ${Version} ${source:Package}\\n"
    return sorted(line.split() for line in output("dpkg-query", "-W", "-f", form, *sorted(packages)).splitlines())


def bill(version, architecture, time, checkouts, files):
    """The bill of materials as CycloneDX 1.5: the same parts give the same bytes."""
    def component(kind, name, version, purl, licence, **others):
        form = {"expression": licence} if " " in licence else {"license": {"id": licence}}
        return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": [form], **others}

    tender = component("application", "tender", version, f"pkg:generic/tender@{version}", "Apache-2.0")
    parts = [component("library", name, version, f"pkg:swift/{address.removeprefix('https://').removesuffix('.git')}@{version}", licence)
             for name, version, address, licence, _ in swift_packages(checkouts)]
    parts += [component("library", name, version, "pkg:generic/" + re.sub(r"[ ()]+", "-", name).strip("-").lower() + f"@{version}", licence)
              for name, version, licence in vendored(checkouts)]
    for name, number, source in debian_packages(files):
        licence = next((licence for start, licence in DEBIAN.items() if source.startswith(start)), None)
        purl = f"pkg:deb/debian/{name}@{number.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}"
        part = component("library", name, number, purl, licence or "")
        if not licence:
            part["licenses"] = [{"license": {"name": f"/usr/share/doc/{name}/copyright"}}]
        parts.append(part)
    made = {"timestamp": time, "component": tender}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([made, parts], sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{serial}", "version": 1, "metadata": made, "components": parts,
            "dependencies": [{"ref": tender["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}]}
