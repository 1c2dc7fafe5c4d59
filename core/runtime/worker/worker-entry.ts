/** The main module of a worker process: runs the handlers that its manager asks for. */
import { serialize } from 'node:v8';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle, BundleDeployment, BundleSource } from '../../../api/v1alpha1/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type {
  DeploymentContext,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import type { Source, SourceContext } from '../../contracts/source.ts';
import { checkObjectCount, checkObjectSize } from '../../manifests/object-bounds.ts';
import { ContentCollector, contentPieces, fileTable, pieceBytes } from './content-transfer.ts';
import { forwardingLogger } from './forwarding-logger.ts';
import type { CallMessage, FetchOrigin, FromWorker, ToWorker } from './messages.ts';
import { fromThrown, toThrown } from './thrown.ts';

interface RunningCall {
  readonly message: CallMessage;
  readonly content: ContentCollector;
  readonly abort: AbortController;
}

let running: RunningCall | undefined;

// The manager decides when its workers end: a terminal's Ctrl-C reaches the whole process group.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'call':
      running = {
        message,
        content: new ContentCollector(message.files),
        abort: new AbortController(),
      };
      return runWhenComplete(running);
    case 'content':
      running?.content.add(message.parts);
      return runWhenComplete(running);
    case 'abort':
      return running?.abort.abort(fromThrown(message.reason));
  }
});

function runWhenComplete(call: RunningCall | undefined): void {
  if (call?.content.complete === true) void answer(call);
}

async function answer(call: RunningCall): Promise<void> {
  try {
    await answers[call.message.handler](call);
    await send({ type: 'end' });
  } catch (error) {
    await send({ type: 'end', error: toThrown(error) });
  }
}

const answers = {
  bundle: answerWithFiles,
  deployment: answerWithObjects,
  inputs: answerWithInputs,
  fetch: answerWithContent,
} as const;

async function answerWithContent(call: RunningCall): Promise<void> {
  const { message } = call;
  const { origin } = message;
  if (origin === undefined) throw new Error('the call does not say for which Bundle it fetches');
  const createSource = await load<(settings: object) => Source>(message);
  const source = createSource(origin.settings);
  const context = fetchContext(call, origin);
  const { files, resolvedSource } = await source.fetch(message.object as BundleSource, context);
  await sendFiles(files, resolvedSource);
}

async function answerWithFiles(call: RunningCall): Promise<void> {
  const { bundle } = await load<Provisioner>(call.message);
  const files = call.content.files();
  const result = await bundle?.(files, call.message.object as Bundle, contextOf(call));
  if (result === undefined) throw new Error('the handler returned no files');
  if (result === files) return await send({ type: 'files', files: 'unchanged' });
  await sendFiles(result);
}

async function sendFiles(files: BundleFiles, resolvedSource?: BundleSource): Promise<void> {
  const resolved = resolvedSource === undefined ? {} : { resolvedSource };
  await send({ type: 'files', files: fileTable(files), ...resolved });
  for (const parts of contentPieces(files)) await send({ type: 'content', parts });
}

async function answerWithObjects(call: RunningCall): Promise<void> {
  const { deployment } = await load<Provisioner>(call.message);
  const files = call.content.files();
  const object = call.message.object as BundleDeployment;
  const result = await deployment?.(files, object, deploymentContext(call));
  if (result === undefined) throw new Error('the handler returned no objects');
  await sendObjects(result, call.message.limits.maxEntries);
}

async function answerWithInputs(call: RunningCall): Promise<void> {
  const { inputs } = await load<Provisioner>(call.message);
  const object = call.message.object as BundleDeployment;
  const references = await inputs?.(object, contextOf(call));
  if (references === undefined) throw new Error('the handler returned no inputs');
  await send({ type: 'inputs', references });
}

/** Bounded here: the manager is not to receive what it could not bear. */
async function sendObjects(all: readonly KubernetesObject[], maxObjects: number): Promise<void> {
  checkObjectCount(all.length, maxObjects);
  let objects: KubernetesObject[] = [];
  let size = 0;
  for (const object of all) {
    const bytes = serialize(object).byteLength;
    if (bytes > pieceBytes) checkObjectSize(object);
    objects.push(object);
    size += bytes;
    if (size < pieceBytes) continue;
    await send({ type: 'objects', objects });
    objects = [];
    size = 0;
  }
  await send({ type: 'objects', objects });
}

async function load<T>({ module }: CallMessage): Promise<T> {
  return ((await import(module)) as { readonly default: T }).default;
}

function contextOf({ message, abort }: RunningCall): ProvisionerContext {
  const logger = forwardingLogger((line) => void send(line));
  return { signal: abort.signal, logger, limits: message.limits };
}

function deploymentContext(call: RunningCall): DeploymentContext {
  return { ...contextOf(call), inputs: [], ...call.message.facts };
}

function fetchContext(call: RunningCall, origin: FetchOrigin): SourceContext {
  return {
    ...contextOf(call),
    bundle: origin.bundle,
    secrets: { read: async (name) => origin.secrets.get(name) },
    configMaps: noConfigMaps,
  };
}

/** Sources that read ConfigMaps take no processor time to speak of, and run in the manager. */
const noConfigMaps: SourceContext['configMaps'] = {
  namespace: '',
  read: async () => {
    throw new Error('a source in a worker process cannot read ConfigMaps');
  },
};

/** Resolves when the message is on its way, so that large results wait for their reader. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    // Fails only where the manager is gone, and then this process ends too.
    process.send?.(message, undefined, undefined, () => resolve());
  });
}
