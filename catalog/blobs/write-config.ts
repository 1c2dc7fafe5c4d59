import { type JsonObject, parseJson } from '../../api/json.ts';
import type { CatalogConfig } from './blob.ts';
import { compactBlobs } from './compact-json.ts';
import { goYaml } from './go-yaml.ts';

/** The blobs of a catalog as opm writes them in JSON: one object after another, four spaces an indent. */
export function* writeJson(config: CatalogConfig): Generator<string> {
  for (const blob of compactBlobs(config)) yield `${indentedJson(blob)}\n`;
}

/** The blobs of a catalog as opm writes them in YAML: each a document behind a `---` line. */
export function* writeYaml(config: CatalogConfig): Generator<string> {
  for (const blob of compactBlobs(config)) yield `---\n${goYaml(parseJson(blob) as JsonObject)}`;
}

const step = '    ';
const structural = /["{}[\],:]/g;

/** JSON with line breaks, where texts and numbers stay as they are written: no space is outside of texts. */
function indentedJson(compact: string): string {
  let written = '';
  let indent = '\n';
  let copied = 0;
  structural.lastIndex = 0;
  for (let found = structural.exec(compact); found !== null; found = structural.exec(compact)) {
    const at = found.index;
    const [mark] = found;
    if (mark === '"') {
      structural.lastIndex = endOfText(compact, at);
      continue;
    }
    if (isOpening(mark) && isClosing(compact[at + 1])) {
      structural.lastIndex = at + 2;
      continue;
    }
    const end = isClosing(mark) ? at : at + 1;
    indent = indentBehind(mark, indent);
    written += compact.slice(copied, end) + (mark === ':' ? ' ' : indent);
    copied = end;
  }
  return written + compact.slice(copied);
}

function indentBehind(mark: string, indent: string): string {
  if (isOpening(mark)) return indent + step;
  return isClosing(mark) ? indent.slice(0, -step.length) : indent;
}

function isOpening(mark: string): boolean {
  return mark === '{' || mark === '[';
}

function isClosing(mark: string | undefined): boolean {
  return mark === '}' || mark === ']';
}

/** The place behind the quote that ends a text. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
