import type { KubernetesObject } from '../../../api/meta.ts';
import type { HealthRule } from '../../../api/v1alpha1/deployment-policies.ts';
import type { Bundle, BundleDeployment, BundleSource } from '../../../api/v1alpha1/index.ts';
import { checkFiles } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type {
  DeploymentContext,
  Provisioner,
  ProvisionerContext,
} from '../../contracts/provisioner.ts';
import type { Source, SourceContext } from '../../contracts/source.ts';
import type { ContentCollector } from './content-transfer.ts';
import { describeModule } from './describe-module.ts';
import { checkFilesShape } from './files-shape.ts';
import { forwardingLogger } from './forwarding-logger.ts';
import { type JudgeFunction, judgedObjects, verdictFiles } from './judge-files.ts';
import { loadModule } from './load-module.ts';
import type { CallMessage, FetchOrigin, HandlerName } from './messages.ts';
import { objectTexts } from './object-texts.ts';
import type { Sender } from './sender.ts';

/** A call in its worker process. */
export interface RunningCall {
  readonly message: CallMessage;
  readonly content: ContentCollector;
  readonly abort: AbortController;
  readonly sender: Sender;
}

/** Runs what is called and sends its result; what it throws is the caller's to send. */
export const answerWith: Readonly<Record<HandlerName, (call: RunningCall) => Promise<void>>> = {
  bundle: answerWithStored,
  configure: answerWithConfigured,
  deployment: answerWithObjects,
  inputs: answerWithInputs,
  fetch: answerWithContent,
  judge: answerWithVerdicts,
  describe: answerWithDescription,
};

async function answerWithContent(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const { origin, module } = message;
  if (origin === undefined) throw new Error('the call does not say for which Bundle it fetches');
  const createSource = (await loadModule(module)) as (settings: object) => Source;
  const source = createSource(origin.settings);
  const context = fetchContext(call, origin);
  const { files, resolvedSource } = await source.fetch(message.object as BundleSource, context);
  await sender.send({ type: 'resolved', source: { ...resolvedSource } });
  await sender.sendFiles(files);
}

async function answerWithVerdicts({ message, sender, content }: RunningCall): Promise<void> {
  const judge = (await loadModule(message.module)) as JudgeFunction;
  const rules = message.object as readonly HealthRule[];
  await sender.sendFiles(verdictFiles(judge(rules, judgedObjects(content.files()))));
}

async function answerWithStored(call: RunningCall): Promise<void> {
  const { bundle } = await loadClass(call);
  const object = call.message.object as Bundle;
  await answerWithFiles(call, async (files) => await bundle?.(files, object, contextOf(call)));
}

async function answerWithConfigured(call: RunningCall): Promise<void> {
  const { configure } = await loadClass(call);
  const object = call.message.object as BundleDeployment;
  const context = deploymentContext(call);
  await answerWithFiles(call, async (files) => await configure?.(files, object, context));
}

async function answerWithFiles(
  { message, sender, content }: RunningCall,
  handle: (files: BundleFiles) => Promise<unknown>,
): Promise<void> {
  const files = content.files();
  const result = await handle(files);
  if (result === undefined) throw new Error('the handler returned no files');
  if (result === files) return await sender.send({ type: 'unchanged' });
  checkFilesShape(result, message.callee);
  checkFiles(result as BundleFiles, message.limits);
  await sender.sendFiles(result as BundleFiles);
}

async function answerWithObjects(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const { deployment } = await loadClass(call);
  const files = call.content.files();
  const object = message.object as BundleDeployment;
  const result: unknown = await deployment?.(files, object, deploymentContext(call));
  if (result === undefined) throw new Error('the handler returned no objects');
  for (const texts of objectTexts(result as readonly KubernetesObject[], message)) {
    await sender.sendObjects(texts);
  }
}

async function answerWithInputs(call: RunningCall): Promise<void> {
  const { message, sender } = call;
  const { inputs } = await loadClass(call);
  const references = await inputs?.(message.object as BundleDeployment, contextOf(call));
  if (references === undefined) throw new Error('the handler returned no inputs');
  await sender.send({ type: 'inputs', references: [...references] });
}

async function answerWithDescription({ message, sender }: RunningCall): Promise<void> {
  await sender.send(describeModule(await loadModule(message.module)));
}

async function loadClass({ message }: RunningCall): Promise<Provisioner> {
  return (await loadModule(message.module)) as Provisioner;
}

function contextOf({ message, abort, sender }: RunningCall): ProvisionerContext {
  const logger = forwardingLogger((line) => void sender.send(line));
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
