#!/bin/bash
# One request of class acme-template, from standard input to standard output, with jq and tar:
# the objects of templates/*.json, filled in from values.json and spec.config.
export LC_ALL=C
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

answer() { # status, body
  printf 'HTTP/1.1 %s\r\nConnection: close\r\n' "$1"
  [[ $1 == 204* ]] || printf 'Content-Type: application/json\r\nContent-Length: %d\r\n' "${#2}"
  printf '\r\n%s' "$2"
  exit
}

refuse() {
  answer '422 Unprocessable Content' "$(jq --null-input --arg problem "$1" '{message: "missing or wrong: \($problem)"}')"
}

fill='
  def text: if type == "string" then . else tojson end;
  ($values | if length == 1 and (.[0] | type) == "object" then .[0] else error("values.json is no object") end) as $own
  | ($own + ($object[0].spec.config // {})) as $all
  | [$ARGS.positional[] | . as $template
    | gsub("\\$(?<name>[A-Za-z_]+)"; .name as $name | if $all | has($name) then $all[$name] | text else error("\u0027\($name)\u0027") end)
    | fromjson
    | if [.apiVersion?, .kind?, .metadata?.name?] | length == 3 and all(type == "string" and . != "") then .
      else error("an object without apiVersion, kind or name") end]'

read -r method path _
length=0
while IFS=': ' read -r name value && [[ $name != $'\r' ]]; do
  [[ ${name,,} == content-length ]] && length=${value%$'\r'}
done
[[ $method == GET ]] && answer '200 OK' '{"contractVersion": 1, "className": "acme-template", "handlers": ["bundle", "deployment"]}'

cd "$work" || exit
head --bytes="$length" >request.tar && tar --extract --file=request.tar || answer '400 Bad Request' '{}'
[[ -f content/values.json ]] || refuse "'content/values.json'"
templates=()
for file in content/templates/*; do
  [[ -f $file ]] && templates+=("$(jq --raw-input --slurp . "$file" 2>&1)")
done
objects=$(jq --null-input --compact-output --slurpfile values content/values.json --slurpfile object object.json \
  "$fill" --jsonargs "${templates[@]}" 2>&1) || refuse "$(sed -n '1s/^jq: error[^:]*: //p' <<<"$objects")"
[[ $path == /v1/bundle ]] && answer '204 No Content'
answer '200 OK' "$objects"
