import { Argument, Command, Option } from 'commander';
import type { PackageGraph, UpgradeGraph } from '../../../../catalog/graph/index.ts';
import { collect } from '../../../flags/flag-values.ts';
import { addRegistryFlags, type RegistryFlags } from '../../../flags/registry-flags.ts';
import { Report, writeOutput } from '../../output/output.ts';
import { paintGraph } from '../../terminal/paint.ts';
import { visibleText } from '../../terminal/text.ts';
import { tableLines } from '../../terminal/tree.ts';
import { withCatalog, withPlace } from '../opened-catalog.ts';

const printed = ['text', 'wide', 'json', 'yaml'] as const;
const drawn = ['mermaid', 'svg', 'html'] as const;

interface GraphFlags extends RegistryFlags {
  readonly channel: readonly string[];
  readonly output: (typeof printed)[number] | (typeof drawn)[number];
}

/** `rukpakctl catalog graph`: the upgrade graph of a package. */
export function graphCommand(): Command {
  const command = new Command('graph')
    .addArgument(new Argument('<package>', 'Name of the package'))
    .addArgument(new Argument('<catalog>', 'Directory, image, oci:DIRECTORY or oci-archive:FILE'))
    .addOption(
      new Option('--channel <name>', 'Channel to draw; repeatable')
        .argParser(collect)
        .default([], 'all'),
    )
    .addOption(
      new Option(
        '-o, --output <format>',
        'Lines cut to the terminal, full lines, one object for scripts, or a drawing',
      )
        .choices([...printed, ...drawn])
        .default('text'),
    );
  return addRegistryFlags(command).action(withPlace(graph));
}

async function graph(name: string, place: string, flags: GraphFlags): Promise<void> {
  const drawing = await import('../../../../catalog/graph/index.ts');
  const { channel, output } = flags;
  const whole = await graphOf(place, flags);
  const graph = drawing.packageGraph(whole, name, channel);
  switch (output) {
    case 'mermaid': {
      const channels = whole.channels.filter(
        (each) => channel.length === 0 || channel.includes(each.name),
      );
      const text = drawing.drawMermaid({ ...whole, channels }, { package: name, warn });
      return await writeOutput(text, process.stdout);
    }
    case 'svg':
      return await writeOutput(drawing.drawSvg(graph), process.stdout);
    case 'html':
      return await writeOutput(drawing.drawHtml(graph), process.stdout);
    default:
      return await print(graph, new Report({ output }), (channels) =>
        drawing.packageGraph(whole, name, channels),
      );
  }
}

function warn(text: string): void {
  process.stderr.write(`warning: ${visibleText(text)}\n`);
}

async function graphOf(place: string, flags: RegistryFlags): Promise<UpgradeGraph> {
  const [{ decodedParts, loadDirectory }, { upgradeGraph }] = await Promise.all([
    import('../../../../catalog/load/index.ts'),
    import('../../../../catalog/graph/index.ts'),
  ]);
  return await withCatalog(place, flags, (dir, signal) =>
    upgradeGraph(decodedParts(loadDirectory(dir, { signal }))),
  );
}

/** Draws channels in at most half of the width, to leave room for names. */
async function print(
  graph: PackageGraph,
  report: Report,
  only: (channels: readonly string[]) => PackageGraph,
): Promise<void> {
  const { drawText, titleOf } = await import('../../../../catalog/graph/index.ts');
  const names = graph.channels.map((channel) => channel.name);
  const most = Math.floor(report.width / 4);
  const more = names.length - most;
  const shown = more > 0 ? only(names.slice(0, most)) : graph;
  const { lines, legend } = drawText(shown);
  const rows = tableLines(
    lines.map(({ name, details }) => [name, details]),
    report.width - 2 * shown.channels.length,
  );
  await report.line(titleOf(graph));
  await report.lines(
    rows.map((row, index) => `${lines[index]?.lanes ?? ''}${row}`),
    paintGraph,
  );
  if (legend !== '') await report.line(legend);
  if (more > 0) {
    const what = more === 1 ? 'channel is' : 'channels are';
    await report.line(
      `${more} more ${what} not drawn: name channels with --channel, or --output wide`,
    );
  }
  await report.result(graph);
}
