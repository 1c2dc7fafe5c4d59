import { EntryDetails, oneLine } from '../entry-details.ts';
import { entriesByName } from '../package-channel.ts';
import type { BundleNode, PackageGraph } from '../package-graph.ts';
import { markup } from './markup.ts';
import { svgElement } from './svg-drawing.ts';
import { titleOf } from './text-drawing.ts';

const style = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
figure { margin: 0 0 2rem; overflow-x: auto; }
table { border-collapse: collapse; }
caption { font-weight: 600; text-align: start; }
th, td { border-bottom: 1px solid #8888; padding: 0.3rem 0.8rem 0.3rem 0; text-align: start; vertical-align: top; }
td { overflow-wrap: anywhere; }
`;

/**
 * A package's graph as one HTML file without scripts: the drawing, and a table with the same
 * content in words.
 */
export function* drawHtml(graph: PackageGraph): Generator<string> {
  const title = markup(`Upgrade graph of ${titleOf(graph)}`);
  yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n';
  yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n';
  yield `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">\n`;
  yield `<title>${title}</title>\n<style>${style}</style>\n</head>\n<body>\n<main>\n`;
  yield `<h1>${title}</h1>\n<figure tabindex="0">\n`;
  yield* svgElement(graph);
  yield '<figcaption>Full lines: replaces. Dotted lines: skips. Rings: heads. Full circles: what heads lead to by replaces. Dotted circles: skipped. Crossed circles: stranded. Struck: deprecated.</figcaption>\n</figure>\n';
  yield* table(graph);
  yield '</main>\n</body>\n</html>\n';
}

function* table(graph: PackageGraph): Generator<string> {
  const details = new EntryDetails(graph);
  const columns = graph.channels.map((channel) => ({
    name: oneLine(channel.name),
    entries: entriesByName(channel),
  }));
  yield '<table>\n<caption>Bundles, the highest version first</caption>\n<thead>\n<tr>';
  for (const heading of ['Bundle', 'Version', 'Channels', 'Upgrades']) {
    yield `<th scope="col">${heading}</th>`;
  }
  yield '</tr>\n</thead>\n<tbody>\n';
  for (const bundle of graph.bundles) {
    const channels = columns.flatMap(({ name, entries }) => {
      const reach = entries.get(bundle.name)?.reach;
      if (reach === undefined) return [];
      return [reach === 'path' ? name : `${name} (${reach})`];
    });
    yield row(bundle, channels.join(', '), details.of(bundle));
  }
  yield '</tbody>\n</table>\n';
}

function row(bundle: BundleNode, channels: string, details: string): string {
  const name = `<bdi>${markup(oneLine(bundle.name))}</bdi>`;
  const shown = bundle.deprecation === undefined ? name : `<s>${name}</s>`;
  const cells = [bundle.version ?? '', channels, details].map((each) => `<td>${markup(each)}</td>`);
  return `<tr><th scope="row">${shown}</th>${cells.join('')}</tr>\n`;
}
