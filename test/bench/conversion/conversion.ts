import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadDirectory } from '../../../cmd/ctl/content/load-content.ts';
import { type BundleFiles, defaultLimits } from '../../../core/sdk.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
} from '../../helpers/real-bundles.ts';
import { median, type Row, report, rounded } from '../report.ts';
import {
  configuredOperator,
  convertOperator,
  type RealOperator,
  type Step,
  steps,
  type Timer,
} from './real-operator.ts';

const megabyte = 1_000_000;

/** Milliseconds of processor time, of all threads: garbage collection and compiling count too. */
type Costs = Record<Step, number>;

/**
 * All real operators from their files to the objects to apply, again and again in one process and
 * from memory: what a worker process does for a Bundle of class core-rukpak-io-registry and for the
 * BundleDeployment of it.
 */
export async function benchConversion(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      runs: { type: 'string', default: '10' },
      /** Also a row for each operator, medians of the runs. */
      each: { type: 'boolean', default: false },
    },
  });
  if (!realBundlesArePresent()) return;
  const operators = await loadOperators();
  const bytes = operators.reduce((sum, { files }) => sum + sizeOf(files), 0);
  const costs = new Map<string, Costs[]>(operators.map(({ name }) => [name, []]));
  const rows: Row[] = [];
  for (let run = 0; run < Number(values.runs); run += 1) {
    const start = performance.now();
    for (const operator of operators) costs.get(operator.name)?.push(await costsOf(operator));
    const seconds = (performance.now() - start) / 1000;
    rows.push({
      operators: operators.length,
      ...sumOf([...costs.values()].map((each) => each[run] as Costs)),
      'ms in all': rounded(seconds * 1000),
      'operators/s': rounded(operators.length / seconds),
      'MB/s': rounded(bytes / megabyte / seconds),
    });
  }
  if (values.each) console.table(Object.fromEntries([...costs].map(eachRow)));
  report('conversion', rows);
}

async function loadOperators(): Promise<readonly RealOperator[]> {
  const operators: RealOperator[] = [];
  for (const { name } of realBundles) {
    const files = loadDirectory(join(realBundleDirectory(name)), defaultLimits);
    const operator = await configuredOperator(name, files);
    if (typeof operator === 'string') console.warn(`${name} is left out: ${operator}`);
    else operators.push(operator);
  }
  return operators;
}

async function costsOf(operator: RealOperator): Promise<Costs> {
  const costs: Costs = { bundle: 0, configure: 0, deployment: 0 };
  const timed: Timer = async (step, call) => {
    const before = process.cpuUsage();
    const result = await call();
    const { user, system } = process.cpuUsage(before);
    costs[step] += (user + system) / 1000;
    return result;
  };
  await convertOperator(operator, timed);
  return costs;
}

function sumOf(all: readonly Costs[]): Row {
  return Object.fromEntries(
    steps.map((step) => [
      `CPU ms ${step}`,
      rounded(all.reduce((sum, costs) => sum + costs[step], 0)),
    ]),
  );
}

function eachRow([name, costs]: readonly [string, readonly Costs[]]): readonly [string, Row] {
  const row = steps.map((step) => [step, rounded(median(costs.map((cost) => cost[step])), 2)]);
  return [name, Object.fromEntries(row)];
}

function sizeOf({ files }: BundleFiles): number {
  return [...files.values()].reduce((sum, content) => sum + content.byteLength, 0);
}
