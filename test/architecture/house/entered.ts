/**
 * `KUBECONFIG=… node test/architecture/house/entered.ts`: files and functions of the product that the
 * manager's process enters from an event to the last status, for a Bundle and for a BundleDeployment of
 * one ConfigMap. Needs kubectl, and a cluster with our CRDs where nothing else of ours runs.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createLogger } from '../../../core/platform/observe/index.ts';
import { runManager } from '../../../core/run-manager.ts';
import { builtInProvisionerModules } from '../../../provisioners/index.ts';

const root = pathToFileURL(join(import.meta.dirname, '../../../')).href;
const product = /^(api|catalog|operators|resolver|core|provisioners)\//;
const system = 'house';
/** The lease, the informers and the first list have come to rest (milliseconds). */
const calm = 5_000;
/** The last status is written, and its own event has been taken (milliseconds). */
const settled = 3_000;

interface Entered {
  readonly files: number;
  readonly folders: number;
  readonly functions: number;
  readonly names: readonly string[];
}

async function kubectl(args: readonly string[], ...objects: readonly object[]): Promise<void> {
  const child = spawn('kubectl', args, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} has ended with ${code}`);
}

/** What has been entered since the last call. */
async function taken(session: Session): Promise<Entered> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const entered = result.flatMap(({ url, functions }) => {
    const path = url.startsWith(root) ? url.slice(root.length) : '';
    // A module is a function too, one without a name that begins at 0.
    const run = functions.filter(
      ({ ranges: [range] }) => (range?.count ?? 0) > 0 && range?.startOffset !== 0,
    );
    return product.test(path) && run.length > 0 ? [{ path, functions: run.length }] : [];
  });
  const names = entered.map(({ path }) => path).toSorted();
  return {
    files: names.length,
    folders: new Set(names.map((name) => dirname(name))).size,
    functions: entered.reduce((sum, { functions }) => sum + functions, 0),
    names,
  };
}

const content = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'content', namespace: system },
  data: {
    'app.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace: 'default' },
      data: { greeting: 'hello' },
    }),
  },
};
const spec = {
  provisionerClassName: 'core-rukpak-io-plain',
  source: {
    type: 'configMaps',
    configMaps: [{ configMap: { name: 'content' }, path: 'manifests' }],
  },
};
const apiVersion = 'core.rukpak.io/v1alpha1';

const storage = await mkdtemp(join(tmpdir(), 'rukpak-house-'));
const stop = new AbortController();
const session = new Session();
try {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: system } };
  await kubectl(['apply', '-f', '-'], namespace, content);
  const running = runManager(
    {
      provisioners: builtInProvisionerModules,
      systemNamespace: system,
      content: {
        directory: storage,
        bindAddress: '127.0.0.1:18089',
        externalAddress: 'http://127.0.0.1:18089',
      },
      healthProbeBindAddress: '0',
      leaderElection: false,
      logger: createLogger('warn'),
    },
    stop.signal,
  );
  await delay(calm);
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const measure = async (object: object, kind: string, condition: string): Promise<Entered> => {
    await taken(session);
    await kubectl(['apply', '-f', '-'], object);
    await kubectl(['wait', kind, 'house', `--for=condition=${condition}`, '--timeout=60s']);
    await delay(settled);
    return await taken(session);
  };
  const metadata = { name: 'house' };
  const bundle = await measure(
    { apiVersion, kind: 'Bundle', metadata, spec },
    'bundle',
    'Unpacked',
  );
  await kubectl(['delete', 'bundle', 'house']);
  await delay(settled);
  const template = { metadata: {}, spec };
  const { provisionerClassName } = spec;
  const deployment = { kind: 'BundleDeployment', spec: { provisionerClassName, template } };
  const installed = await measure(
    { apiVersion, metadata, ...deployment },
    'bundledeployment',
    'Healthy',
  );
  await kubectl(['delete', 'bundledeployment', 'house']);
  const listed = process.argv.includes('--names');
  for (const [kind, { names, ...figures }] of Object.entries({ bundle, installed })) {
    console.log(JSON.stringify({ kind, ...figures }));
    if (listed) console.log(names.join('\n'));
  }
  stop.abort();
  await running;
} finally {
  stop.abort();
  session.disconnect();
  await rm(storage, { recursive: true, force: true });
}
