#!/usr/bin/env python3
"""registry.py DIR serves DIR's npm packages on the loopback, as npm's registry does, and prints its address."""
import base64, hashlib, http.server, json, pathlib, sys, tarfile, urllib.parse

place = pathlib.Path(sys.argv[1])
packages = {}
for file in sorted(place.glob("*.tgz")):
    with tarfile.open(file) as tar:
        manifest = json.load(tar.extractfile("package/package.json"))
    packages[manifest["name"]] = manifest, file


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = urllib.parse.unquote(self.path)[1:]
        data, status = b"{}", 200
        if path in packages:
            manifest, file = packages[path]
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
            version = manifest | {"dist": {"tarball": f"{address}/{file.name}", "integrity": integrity}}
            data = json.dumps({"name": path, "dist-tags": {"latest": manifest["version"]}, "versions": {manifest["version"]: version}}).encode()
        elif path in (file.name for _, file in packages.values()):
            data = (place / path).read_bytes()
        else:
            status = 404
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
address = f"http://127.0.0.1:{server.server_port}"
print(address, flush=True)
server.serve_forever()
