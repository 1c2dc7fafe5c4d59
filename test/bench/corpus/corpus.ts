import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';
import { loadDirectory } from '../../../cmd/ctl/content/load-content.ts';
import { renderBundle } from '../../../cmd/ctl/content/render-content.ts';
import { errorMessage } from '../../../core/errors.ts';
import { defaultLimits } from '../../../core/sdk.ts';
import { classNameOf } from '../../../provisioners/class-of-content.ts';
import { changedCopy, type Files } from '../../helpers/changed-copy.ts';
import { Kubectl } from '../../helpers/kubectl.ts';
import { aTree } from '../../helpers/registry-bundle.ts';
import { CoreProcess } from '../core-process.ts';
import { type Row, rounded } from '../report.ts';
import { startBench } from '../scale/bench.ts';
import { findBundles } from './find-bundles.ts';
import { type Corpus, deploy, remove, type Version } from './life.ts';

/** Beside the project, not in it. */
const defaultFolder = join(import.meta.dirname, '../../../../shared/bundles');
const outcomeLength = 100;
/** Prefix of every refusal to convert. */
const commonPrefix = 'convert registry+v1 bundle to plain+v0 bundle: ';

interface Rendered {
  readonly path: string;
  readonly row: Row;
  readonly files: Files;
  readonly className: string;
  readonly objects: readonly KubernetesObject[];
}

/** Every bundle below a folder: rendered, and with a cluster installed, upgraded and deleted. */
export async function benchCorpus(flags: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...flags],
    allowPositionals: true,
    options: { cluster: { type: 'boolean', default: false } },
  });
  // npm changes to the project's folder; a relative path means where the user is.
  const [folder = defaultFolder] = positionals;
  const root = resolve(process.env['INIT_CWD'] ?? process.cwd(), folder);
  const rendered = findBundles(root).map((path) => render(root, path));
  const rows = new Map(rendered.map(({ path, row }) => [path, row]));
  const converted = rendered.filter(({ objects }) => objects.length > 0);
  if (values.cluster) await liveAll(converted, rows);
  console.table(Object.fromEntries([...rows].map(([path, row]) => [path, shortened(row)])));
  console.log(JSON.stringify({ benchmark: 'corpus', bundles: Object.fromEntries(rows) }));
}

function render(root: string, path: string): Rendered {
  const start = performance.now();
  try {
    const content = loadDirectory(join(root, path), defaultLimits);
    const objects = renderBundle(content, {});
    const row = { 'render ms': since(start), objects: objects.length, outcome: 'ok' };
    const files = Object.fromEntries(content.files);
    return { path, row, files, className: classNameOf(content), objects };
  } catch (error) {
    const row = { 'render ms': since(start), objects: 0, outcome: errorMessage(error) };
    return { path, row, files: {}, className: '', objects: [] };
  }
}

function since(start: number): number {
  return rounded(performance.now() - start);
}

/** One after the other: each has the cluster for itself. */
async function liveAll(bundles: readonly Rendered[], rows: Map<string, Row>): Promise<void> {
  await using bench = await startBench();
  await using core = await CoreProcess.start(bench.cluster, ['--leader-elect']);
  const { kubectl: path, kubeconfig } = bench.cluster;
  const corpus = { ...bench, core, kubectl: new Kubectl({ path, kubeconfig }) };
  for (const bundle of bundles) {
    process.stderr.write(`${bundle.path}\n`);
    const row = await live(corpus, bundle).catch((error: unknown) => ({
      outcome: errorMessage(error),
    }));
    rows.set(bundle.path, { ...bundle.row, ...row });
  }
}

/** A name that a BundleDeployment, an image and a label can have. */
function nameOf(path: string): string {
  const name = path.replaceAll(/[^a-z0-9]+/g, '-');
  return name.length <= 50
    ? name
    : `${name.slice(0, 20)}-${name.slice(-29)}`.replaceAll(/-+/g, '-');
}

async function live(corpus: Corpus, { path, files, className, objects }: Rendered): Promise<Row> {
  const name = nameOf(path);
  const first: Version = { name, className, tag: 'v1', files, objects };
  const copy = changedCopy(files, `${name}-changed`);
  const second = { ...first, tag: 'v2', files: copy, objects: renderBundle(aTree(copy), {}) };
  const steps: Record<string, Row> = { install: await deploy(corpus, first) };
  const isInstalled = steps['install']?.['outcome'] === 'ok';
  if (isInstalled) steps['upgrade'] = await deploy(corpus, second);
  steps['delete'] = await remove(corpus, isInstalled ? second : first);
  const outcomes = Object.entries(steps).map(([step, { outcome }]) => [step, outcome] as const);
  const failed = outcomes.find(([, outcome]) => outcome !== 'ok');
  return {
    ...Object.fromEntries(Object.entries(steps).flatMap(([step, row]) => columnsOf(step, row))),
    outcome: failed === undefined ? 'ok' : failed.join(': '),
  };
}

/** Reports an equal outcome of all steps once. */
function columnsOf(step: string, row: Row): readonly (readonly [string, number | string])[] {
  return Object.entries(row)
    .filter(([column]) => column !== 'outcome')
    .map(([column, value]) => [`${step} ${column}`, value] as const);
}

/** The table's cells do not break lines. */
function shortened(row: Row): Row {
  const outcome = `${row['outcome']}`.replace(commonPrefix, '').replaceAll('\n', ' ');
  return { ...row, outcome: outcome.slice(0, outcomeLength) };
}
