import type { Logger } from '../../contracts/logger.ts';
import type { Provisioner } from '../../contracts/provisioner.ts';
import { runInWorkers } from '../../runtime/worker/run-in-workers.ts';

export interface OpenClasses {
  readonly provisioners: readonly Provisioner[];
  /** Ends the processes of classes that run in their own. */
  close(): Promise<void>;
}

/** Classes as they are given; those given as modules in worker processes. */
export async function openClasses(
  given: readonly (Provisioner | URL)[],
  logger: Logger,
): Promise<OpenClasses> {
  const modules = given.filter(isModule);
  const here = given.filter(isClass);
  if (modules.length === 0) return { provisioners: here, close: async () => undefined };
  const workers = await runInWorkers({ modules, logger });
  return { provisioners: [...here, ...workers.provisioners], close: () => workers.close() };
}

function isModule(entry: Provisioner | URL): entry is URL {
  return entry instanceof URL;
}

function isClass(entry: Provisioner | URL): entry is Provisioner {
  return !isModule(entry);
}
