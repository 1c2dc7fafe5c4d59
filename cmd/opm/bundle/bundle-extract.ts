import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { goFileError } from '../../../api/go-file-error.ts';
import type { ConfigMapFile } from '../../../catalog/images/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { KubeConnection } from '../../../core/platform/kube/index.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { noArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';
import { logrusLine } from '../logrus.ts';

export const bundleExtractCommand: CobraCommand = {
  use: 'extract',
  long: 'Extract takes as input a directory containing manifests and writes the per file contents to a ConfigMap',
  args: noArgs,
  flags: [
    { name: 'debug', kind: 'bool', usage: 'enable debug logging' },
    {
      name: 'kubeconfig',
      short: 'k',
      kind: 'string',
      usage: 'absolute path to kubeconfig file',
    },
    {
      name: 'manifestsdir',
      short: 'm',
      kind: 'string',
      default: '/',
      usage: 'path to directory containing manifests',
    },
    {
      name: 'configmapname',
      short: 'c',
      kind: 'string',
      usage: 'name of configmap to write bundle data',
    },
    {
      name: 'namespace',
      short: 'n',
      kind: 'string',
      default: 'openshift-operator-lifecycle-manager',
      usage: 'namespace to write configmap data',
    },
    {
      name: 'datalimit',
      short: 'l',
      kind: 'uint',
      default: '1048576',
      usage: 'maximum limit in bytes for total bundle data',
    },
    {
      name: 'gzip',
      short: 'z',
      kind: 'bool',
      usage: 'enable gzip compression of configmap data',
    },
  ],
  run: extract,
};

async function extract(call: CobraCall): Promise<void> {
  const { close, client } = await connected(call.flags.string('kubeconfig'));
  try {
    await fillConfigMap(client, call);
  } catch (error) {
    const message = `error loading manifests from directory: ${errorMessage(error)}`;
    throw new Error(message, { cause: error });
  } finally {
    await close();
  }
}

/** Connects in opm's order: KUBECONFIG, then the flag, then the ServiceAccount of the Pod. */
async function connected(flag: string): Promise<KubeConnection> {
  const { connect } = await import('../../../core/platform/kube/index.ts');
  const kubeconfig = process.env['KUBECONFIG'] || flag;
  log('info', kubeconfig === '' ? 'Using in-cluster kube client config' : loading(kubeconfig));
  try {
    return connect({ userAgent: 'opm', ...(kubeconfig === '' ? {} : { kubeconfig }) });
  } catch (error) {
    const message = `cluster config failed: Cannot load config for REST client: ${errorMessage(error)}`;
    throw logrusFatal(message);
  }
}

function loading(kubeconfig: string): string {
  return `Loading kube client config from path "${kubeconfig}"`;
}

async function fillConfigMap(
  client: KubeConnection['client'],
  { flags, signal }: CobraCall,
): Promise<void> {
  const [{ bundleConfigMap }, { configMapResource }] = await Promise.all([
    import('../../../catalog/images/index.ts'),
    import('../../../core/platform/kube/index.ts'),
  ]);
  const key = { namespace: flags.string('namespace'), name: flags.string('configmapname') };
  if (key.name === '') throw new Error('resource name may not be empty');
  const found = await client.get(configMapResource, key, signal);
  const folder = flags.string('manifestsdir');
  const limit = flags.uint('datalimit');
  const stored = bundleConfigMap(filesIn(folder), {
    gzip: flags.bool('gzip'),
    limit,
    onExceeded: (name) =>
      log('error', `Bundle files exceeded ${limit} bytes limit`, { file: pathOf(folder, name) }),
    sourceImage: process.env['CONTAINER_IMAGE'] ?? '',
    onTranslated: (name, key) =>
      log('info', 'translated filename for configmap compatibility', {
        'file.Name': name,
        validConfigMapKey: key,
      }),
  });
  const { data, binaryData, annotations, addedAnnotations } = stored;
  const all = { ...(annotations ?? found.metadata.annotations), ...addedAnnotations };
  const metadata = { ...found.metadata, annotations: all };
  await client.update(configMapResource, { ...found, metadata, data, binaryData });
}

/** Reads the files one by one, so that the log names a file before messages about it. */
function* filesIn(folder: string): Generator<ConfigMapFile> {
  for (const path of ['manifests/', 'metadata/'].map((name) => folder + name)) {
    const names = readOrSay(path, 'read dir failed', () => readdirSync(path));
    for (const name of names.toSorted()) {
      log('info', 'Reading file', { file: path + name });
      const content = readOrSay(path + name, 'read failed', () => readFileSync(path + name));
      yield { name, content };
    }
  }
}

/** Path of the last read file of this name. */
function pathOf(folder: string, name: string): string {
  const path = `${folder}metadata/${name}`;
  return existsSync(path) ? path : `${folder}manifests/${name}`;
}

function readOrSay<T>(path: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = goFileError(error, path) ?? errorMessage(error);
    log('error', `${what}: ${reason}`, what === 'read failed' ? { file: path } : {});
    throw new Error(reason, { cause: error });
  }
}

function log(
  level: 'info' | 'error',
  message: string,
  fields: Readonly<Record<string, string>> = {},
): void {
  process.stderr.write(`${logrusLine(level, message, fields)}\n`);
}
