import type { Logger } from '../contracts/logger.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type Provisioner,
} from '../contracts/provisioner.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import { type ClassHost, checkedClass, joinedHosts } from './class-host.ts';
import { runInWorkers } from './run-in-workers.ts';

/**
 * Classes that are given run in this process, those that are given as modules in worker processes.
 * @throws Error of one sentence for one that is no class of this contract, and where there is none.
 */
export async function openClasses(
  given: readonly (Provisioner | URL)[],
  { memory, logger }: { readonly memory: ByteBudget; readonly logger: Logger },
): Promise<ClassHost> {
  if (given.length === 0) throw new Error('provisioners is empty: name a class to serve');
  const modules = given.filter(isModule);
  const here = given.filter(isClass);
  for (const provisioner of here) check(provisioner);
  const inProcess: ClassHost = { provisioners: here, close: async () => undefined };
  if (modules.length === 0) return inProcess;
  return joinedHosts([inProcess, await runInWorkers({ modules, memory, logger })]);
}

/** Classes that run elsewhere come as they are, without the version of their contract. */
function check(provisioner: Provisioner & Partial<DefinedProvisioner>): void {
  const { className, contractVersion: version = contractVersion, uses = [] } = provisioner;
  if (typeof className !== 'string') {
    throw new Error(
      'provisioners has an entry that is no class: make it with defineProvisioner({ className, … })',
    );
  }
  const handlers = (['bundle', 'configure', 'deployment', 'inputs'] as const).filter(
    (name) => provisioner[name] !== undefined,
  );
  checkedClass({ className, contractVersion: version, handlers, uses: [...uses] });
}

function isModule(entry: Provisioner | URL): entry is URL {
  return entry instanceof URL;
}

function isClass(entry: Provisioner | URL): entry is Provisioner {
  return !isModule(entry);
}
