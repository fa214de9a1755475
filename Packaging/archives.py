"""Archives whose bytes depend on their contents alone."""
import gzip, hashlib, io, json, os, tarfile


def tar(root, time, prefix="", owners=lambda path: (0, 0)):
    """A tar of everything below a folder, in the order of the names; `owners` gives user and group of a path in it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder, folders, files in os.walk(root):
            folders.sort()
            for name in sorted(folders + files):
                path = os.path.relpath(os.path.join(folder, name), root)
                entry = archive.gettarinfo(os.path.join(root, path), prefix + path)
                entry.mtime, entry.uname, entry.gname = time, "", ""
                entry.uid, entry.gid = owners(path)
                if entry.isfile():
                    entry.type, entry.linkname = tarfile.REGTYPE, ""
                    entry.size = os.path.getsize(os.path.join(root, path))
                    with open(os.path.join(root, path), "rb") as file:
                        archive.addfile(entry, file)
                else:
                    archive.addfile(entry)
    return buffer.getvalue()


def gzipped(data, level=9):
    return gzip.compress(data, level, mtime=0)


def oci_image(root, configuration, architecture, created, tag, owners, time):
    """An OCI image of one layer, as an archive of an OCI layout."""
    layer = tar(root, time, owners=owners)
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    def text(value):
        return json.dumps(value, sort_keys=True).encode()

    image = {"architecture": architecture, "os": "linux", "created": created, "config": configuration,
             "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
             "history": [{"created": created, "comment": "scripts/release"}]}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(text(image), "config.v1+json"), "layers": [blob(gzipped(layer, 6), "layer.v1.tar+gzip")]}
    entry = blob(text(manifest), "manifest.v1+json")
    # The second name is the one that Docker takes.
    entry["annotations"] = {"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": f"docker.io/library/tender:{tag}"}
    files = {**blobs, "oci-layout": text({"imageLayoutVersion": "1.0.0"}),
             "index.json": text({"schemaVersion": 2, "manifests": [entry]})}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(files[name]), time, 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return buffer.getvalue()
