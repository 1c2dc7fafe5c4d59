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

const introduction = `# Real operators

Bundles of a public catalog, each chosen for a property that breaks other tools, in every install mode that its CSV allows. A number is the
number of objects that the class makes from the bundle; the API server of Kubernetes 1.36 accepts each of them. A number in brackets
refers to the reason, below, why there are none. An empty cell is an install mode that the CSV does not allow.

- **without**: no \`spec.config\`, as in RukPak v0.16: the operator watches all namespaces, and the objects include the namespace that the
  bundle suggests.
- **all**, **own**, **one**, **two**: [\`spec.config\`](howto/operators.md) with an existing \`installNamespace\`, and no watched namespace,
  the same one, another one, two others.

The numbers do not include Secrets with serving certificates, which core creates for the Services of webhooks. A bundle that needs kinds
of other operators waits for them, and its condition says so. Core applies objects of kinds that a bundle only uses, for monitoring, when
the cluster serves these kinds.

`;

const byPackage = `## By the name of the package

\`test/e2e/real-packages.test.ts\` builds images of these bundles, and of two catalogs: 13 published packages, among them \`infinispan\` with
version 2.2.1 from the table, and the packages of all other bundles. It creates an Operator for each package:

| packages | result |
| --- | --- |
| 24 | healthy, then deleted with what they installed; \`vault-config-operator\` upgraded from 0.8.49 to 0.8.52 |
| \`eginnovations-operator\` | installed; its webhook refuses its own Pods while no operator answers |
| 12 | refused for a reason below. \`automotive-infra\`, \`gitlab-operator-kubernetes\` and \`percona-postgresql-operator\` are healthy as ClusterExtensions that watch their own namespace |
| \`dbaas-operator\`, \`kuadrant-operator\`, \`ndmspc-operator\`, \`pelorus-operator\` | not installed: they require packages that neither catalog has |
| \`mercury-operator\`, \`rabbitmq-messaging-topology-operator\` 1.18.3 | wait for kinds of other operators |
| 12 published ones, without an image here | resolved to a version; the condition names the image that core cannot pull |

The run took 5 min 52 s on 2 cores, with other work beside it (load average 22). Pods do not run on its control plane.

`;

const columns = ['bundle', 'without', 'all', 'own', 'one', 'two', 'remarks'];

/** The page docs/real-bundles.md. */
export function realBundlesPage(rows: readonly PageRow[]): string {
  const reasons = new Reasons();
  const cells = [columns, columns.map(() => '---'), ...rows.map((row) => cellsOf(row, reasons))];
  const table = cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return `${introduction}${table}\n\n${byPackage}## Reasons\n\n${reasons.list()}\n`;
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
