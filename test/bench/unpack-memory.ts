import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stringifyJson } from '../../api/json.ts';
import { type Cluster, startCluster } from '../../deploy/local/cluster/start-cluster.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aConfigMap, anImage } from '../helpers/objects.ts';
import { pushImage } from '../helpers/push-image.ts';
import { CoreProcess } from './core-process.ts';
import { watchMemory } from './process-memory.ts';
import { type Row, report, rounded } from './report.ts';

const objectsPerBundle = 8;
const mebibyte = 1024 * 1024;

interface Setup {
  readonly cluster: Cluster;
  readonly kubectl: Kubectl;
  readonly bundles: number;
  readonly workers: string;
}

/**
 * The memory of `rukpak core` while it unpacks many Bundles of content that does not compress, all
 * applied at once; each run with an empty store and new objects.
 */
export async function benchUnpackMemory(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      bundles: { type: 'string', default: '200' },
      megabytes: { type: 'string', default: '5' },
      workers: { type: 'string', default: '8' },
      runs: { type: 'string', default: '3' },
    },
  });
  const bundles = Number(values.bundles);
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-bench-cluster-'));
  const cluster = await startCluster({ dir: join(folder, 'cluster') });
  try {
    const kubectl = new Kubectl({ path: cluster.kubectl, kubeconfig: cluster.kubeconfig });
    await kubectl.must(['apply', '--server-side', '--kustomize=deploy/crds']);
    await kubectl.must(['create', 'namespace', 'rukpak-system']);
    await pushAll(cluster.registry, bundles, Number(values.megabytes) * mebibyte);
    const rows: Row[] = [];
    for (let run = 0; run < Number(values.runs); run += 1) {
      rows.push(await measure({ cluster, kubectl, bundles, workers: values.workers }));
    }
    report('unpack-memory', rows);
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function names(bundles: number): readonly string[] {
  return Array.from({ length: bundles }, (_, index) => `bench-${index}`);
}

async function pushAll(registry: string, bundles: number, bytes: number): Promise<void> {
  for (const name of names(bundles)) {
    const layers = [{ files: randomContent(bytes) }];
    await pushImage({ registry, repository: `bench/${name}`, tag: 'v1', layers });
    process.stderr.write(`\rpushing ${name}`);
  }
  process.stderr.write('\n');
}

/** Objects of equal size, each small enough for the API server. */
function randomContent(bytes: number): Readonly<Record<string, string>> {
  const size = Math.floor(((bytes / objectsPerBundle) * 3) / 4);
  const objects = Array.from({ length: objectsPerBundle }, (_, index) => {
    const data = { random: randomBytes(size).toString('base64') };
    return [`manifests/${index}.yaml`, stringifyJson(aConfigMap(`bench-${index}`, data))];
  });
  return Object.fromEntries(objects);
}

async function measure({ cluster, kubectl, bundles, workers }: Setup): Promise<Row> {
  await using core = await CoreProcess.start(cluster, [
    `--workers=${workers}`,
    '--zap-log-level=error',
  ]);
  await delay(2_000);
  const idle = watchMemory(() => core.pid).stop();
  const watched = watchMemory(() => core.pid);
  const start = performance.now();
  const source = (name: string) => anImage(`${cluster.registry}/bench/${name}:v1`);
  await kubectl.apply(...names(bundles).map((name) => aBundle({ name, source: source(name) })));
  await unpacked(kubectl, bundles);
  const seconds = (performance.now() - start) / 1000;
  const peaks = watched.stop();
  await kubectl.deleteAll('bundles');
  return {
    seconds: rounded(seconds),
    'bundles/s': rounded(bundles / seconds),
    'idle MiB': rounded(idle.process),
    'manager MiB': rounded(peaks.process),
    'children MiB': rounded(peaks.children),
    children: peaks.childCount,
    'tree MiB': rounded(peaks.tree),
  };
}

async function unpacked(kubectl: Kubectl, bundles: number): Promise<void> {
  for (;;) {
    const phases = await kubectl.must(['get', 'bundles', '-o=jsonpath={.items[*].status.phase}']);
    const done = phases.split(' ').filter((phase) => phase === 'Unpacked').length;
    process.stderr.write(`\runpacked ${done}`);
    if (done === bundles) break;
    await delay(500);
  }
  process.stderr.write('\n');
}
