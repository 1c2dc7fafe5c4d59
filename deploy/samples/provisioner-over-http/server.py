"""Class acme-template: the objects of templates/*.json, filled in from values.json and spec.config."""
import io, json, string, sys, tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CLASS = {"contractVersion": 1, "className": "acme-template", "handlers": ["bundle", "deployment"]}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, CLASS)

    def do_POST(self):
        body = io.BytesIO(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            with tarfile.open(fileobj=body) as tar:
                files = {entry.name: tar.extractfile(entry).read().decode() for entry in tar if entry.isfile()}
            config = json.loads(files["object.json"])["spec"].get("config", {})
            values = {**json.loads(files["content/values.json"]), **config}
            templates = [string.Template(files[path]) for path in files if path.startswith("content/templates/")]
            objects = [json.loads(template.substitute(values)) for template in templates]
            if not all(each["apiVersion"] and each["kind"] and each["metadata"]["name"] for each in objects):
                raise ValueError("an object without apiVersion, kind or name")
        except (KeyError, TypeError, ValueError) as error:
            return self.answer(422, {"message": f"missing or wrong: {error}"})
        if self.path == "/v1/bundle":
            return self.answer(204)
        self.answer(200, objects)

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
