import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A chart to render, and with what. */
export interface ChartCase {
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Documents of values by name, in order. */
  readonly values: ReadonlyMap<string, string>;
  /** Served besides those that Helm knows. */
  readonly apiVersions: readonly string[];
  readonly lookup: 'refuse' | 'empty';
}

const folder = join(import.meta.dirname, '../../conformance/helm');
const extension = '.chart';
const marker = /^-- (.+) --$/;

/** The charts of test/conformance/helm: one file each, of parts that begin with `-- path --`. */
export function chartCases(): readonly ChartCase[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => readCase(basename(name, extension), readFileSync(join(folder, name), 'utf8')));
}

function readCase(name: string, text: string): ChartCase {
  const parts = partsOf(text);
  const chart = `apiVersion: v2\nname: ${name}\nversion: 1.2.3\nappVersion: "4.5.6"\n`;
  if (!parts.has('Chart.yaml')) parts.set('Chart.yaml', chart);
  const files = new Map<string, Uint8Array>();
  const values = new Map<string, string>();
  for (const [path, content] of parts) {
    if (path.startsWith('@values/')) values.set(path.slice('@values/'.length), content);
    else if (!path.startsWith('@')) files.set(path, Buffer.from(content));
  }
  const apiVersions = (parts.get('@api-versions') ?? '').split('\n').filter(Boolean);
  return { name, files, values, apiVersions, lookup: parts.has('@lookup') ? 'empty' : 'refuse' };
}

/** What comes before the first part is for its readers. */
function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  let path: string | undefined;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const begun = marker.exec(line)?.[1];
    if (begun !== undefined) {
      path = begun;
      parts.set(path, '');
    } else if (path !== undefined) parts.set(path, `${parts.get(path)}${line}\n`);
  }
  return parts;
}
