import type {
  BundleHandler,
  ConfigureHandler,
  DeploymentContext,
  DeploymentHandler,
  InputsHandler,
} from '../../contracts/provisioner.ts';
import { noFiles } from './content-transfer.ts';
import type { GivenFacts } from './messages.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface PlaceInPool {
  readonly module: URL;
  /** Who is called, for messages: `class "acme"`. */
  readonly callee: string;
  readonly pool: Pick<WorkerPool, 'run'>;
}

export interface HandlersInPool {
  readonly bundle: BundleHandler;
  readonly configure: ConfigureHandler;
  readonly deployment: DeploymentHandler;
  readonly inputs: InputsHandler;
}

/** A class's handlers as they are called from here, to run in a process of the pool. */
export function handlersInPool({ pool, ...origin }: PlaceInPool): HandlersInPool {
  return {
    async bundle(files, object, context) {
      const answer = await pool.run({ ...origin, handler: 'bundle', files, object, context });
      return answer.files() ?? files;
    },
    async configure(files, object, context) {
      const facts = factsOf(context);
      const call = { ...origin, handler: 'configure', files, object, facts, context } as const;
      return (await pool.run(call)).files() ?? files;
    },
    async deployment(files, object, context) {
      const facts = factsOf(context);
      const call = { ...origin, handler: 'deployment', files, object, facts, context } as const;
      return (await pool.run(call)).objects();
    },
    async inputs(object, context) {
      const call = { ...origin, handler: 'inputs', files: noFiles, object, context } as const;
      return (await pool.run(call)).references();
    },
  };
}

function factsOf({ inputs, cluster, seed, installed }: DeploymentContext): GivenFacts {
  return {
    inputs,
    ...(cluster === undefined ? {} : { cluster }),
    ...(seed === undefined ? {} : { seed }),
    ...(installed === undefined ? {} : { installed }),
  };
}
