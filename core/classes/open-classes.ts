import type { KubernetesObject } from '../../api/meta.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { Turns } from '../platform/turns.ts';
import { type ClassHost, checkLoaded, joinedHosts } from './class-host.ts';
import { runInWorkers } from './run-in-workers.ts';
import { checkedFiles, objectTexts, type ResultOptions } from './worker/results.ts';

/**
 * Runs classes that are given as objects in this process, and those that are given as modules in
 * worker processes.
 * @throws Error of one sentence for an object that is not a class of this contract, and for an
 * empty list.
 */
export async function openClasses(
  given: readonly (Provisioner | URL)[],
  { memory, logger }: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<ClassHost> {
  if (given.length === 0) throw new Error('provisioners is empty: name a class to serve');
  const modules = given.filter(isModule);
  const here = given.filter(isClass);
  for (const provisioner of here) check(provisioner);
  const provisioners = here.map(withCheckedResults);
  const inProcess: ClassHost = { provisioners, close: async () => undefined };
  if (modules.length === 0) return inProcess;
  return joinedHosts([inProcess, await runInWorkers({ modules, memory, logger })]);
}

function check(provisioner: Provisioner): void {
  if (typeof provisioner.className !== 'string') {
    throw new Error(
      'provisioners has an entry that is not a class: create it with defineProvisioner({ className, … })',
    );
  }
  checkLoaded(provisioner);
}

/** The class with handlers that reject for a result that a worker process would refuse. */
function withCheckedResults(given: Provisioner): Provisioner {
  const { className, bundle, configure, deployment, inputs } = given;
  const callee = `class "${className}"`;
  return {
    className,
    // That of a server's class changes with its description.
    get uses() {
      return given.uses ?? [];
    },
    ...(bundle && {
      bundle: async (files, object, context) => {
        const result = await bundle.call(given, files, object, context);
        return result === files ? files : checkedFiles(result, { callee, ...context });
      },
    }),
    ...(configure && {
      configure: async (files, object, context) => {
        const result = await configure.call(given, files, object, context);
        return result === files ? files : checkedFiles(result, { callee, ...context });
      },
    }),
    ...(deployment && {
      deployment: async (files, object, context) => {
        const result = await deployment.call(given, files, object, context);
        return await checkedObjects(result, { callee, ...context });
      },
    }),
    ...(inputs && { inputs: async (object, context) => inputs.call(given, object, context) }),
  };
}

async function checkedObjects(
  result: readonly KubernetesObject[],
  options: ResultOptions,
): Promise<readonly KubernetesObject[]> {
  const turns = new Turns();
  const pieces = objectTexts(result, options);
  while (pieces.next().done !== true) if (turns.isDue) await turns.give();
  return result;
}

function isModule(entry: Provisioner | URL): entry is URL {
  return entry instanceof URL;
}

function isClass(entry: Provisioner | URL): entry is Provisioner {
  return !isModule(entry);
}
