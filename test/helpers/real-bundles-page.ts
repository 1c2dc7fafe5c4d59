import { type InstallMode, installModes } from './install-modes.ts';

/** What became of one bundle: how many objects, or why none. */
export interface PageRow {
  readonly name: string;
  readonly withoutConfig: number | string;
  /** Of the modes that its CSV allows. */
  readonly modes: readonly (readonly [mode: InstallMode, outcome: number | string])[];
  /** `<group>/<version>/<kind>` that others have to bring. */
  readonly required: readonly string[];
  readonly foreign: readonly string[];
  readonly remark: string;
}

const introduction = `# Real operators, and what becomes of them

Bundles of a public catalog, each chosen for something that others trip over, in every install mode that its CSV allows. A number
is how many objects the bundle becomes, each of which the API server of Kubernetes 1.36 takes. A number in brackets is the reason,
below, for there being none. An empty cell is a mode that the CSV does not allow.

- **without**: no \`spec.config\`, as RukPak v0.16 has it: all namespaces are watched, and the namespace that the bundle suggests
  is one of the objects.
- **all**, **own**, **one**, **two**: [\`spec.config\`](howto/operators.md) with an \`installNamespace\` that is there, and no watched
  namespace, that same one, another one, two others.

Secrets with serving certificates are not counted: core makes them for the Services that webhooks are reached by. A bundle that
needs kinds of others waits, and says so, until they are there. What it only uses, for monitoring, is applied when its kind is served.

`;

const columns = ['bundle', 'without', 'all', 'own', 'one', 'two', 'remarks'];

/** The page docs/real-bundles.md. */
export function realBundlesPage(rows: readonly PageRow[]): string {
  const reasons = new Reasons();
  const cells = [columns, columns.map(() => '---'), ...rows.map((row) => cellsOf(row, reasons))];
  const table = cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return `${introduction}${table}\n\n## Reasons\n\n${reasons.list()}\n`;
}

function cellsOf(row: PageRow, reasons: Reasons): string[] {
  const modes = new Map(row.modes);
  const outcomes = [row.withoutConfig, ...installModes.map((mode) => modes.get(mode) ?? '')];
  return [row.name, ...outcomes.map((outcome) => reasons.cell(outcome)), remarksOf(row)];
}

function remarksOf({ required, foreign, remark }: PageRow): string {
  const needs = required.map((kind) => `\`${kind}\``);
  const uses = foreign.map((kind) => `\`${kind}\``);
  const needed = needs.length === 0 ? '' : `needs ${needs.join(', ')}`;
  const used = uses.length === 0 ? '' : `uses ${uses.join(', ')} where it is served`;
  return [needed, used, remark].filter((part) => part !== '').join('; ');
}

/** Sentences in the order of their first mention. */
class Reasons {
  readonly #numbers = new Map<string, number>();

  cell(outcome: number | string): string {
    if (typeof outcome === 'number' || outcome === '') return String(outcome);
    const number = this.#numbers.get(outcome) ?? this.#numbers.size + 1;
    this.#numbers.set(outcome, number);
    return `[${number}]`;
  }

  list(): string {
    return [...this.#numbers]
      .map(([reason, number]) => `${number}. ${reason.replaceAll('\n', '\n   ')}`)
      .join('\n');
  }
}
