import { type Clock, hasCode } from '../cluster.ts';
import type { ObjectLister } from './custom-resources.ts';

/** Core needs a moment to grant the list of a CRD that is new. */
const tries = 10;
const pauseMs = 500;

/**
 * A lister that tries again for some seconds where it may not list, and says then how it may.
 * Nothing else than waiting is needed where core runs.
 */
export function patientLister(lister: ObjectLister, clock: Clock): ObjectLister {
  return {
    async list(resource, options) {
      for (let tried = 1; ; tried += 1) {
        try {
          return await lister.list(resource, options);
        } catch (error) {
          if (!hasCode(error, 403)) throw error;
          if (tried === tries) throw mayNotList(`${resource.plural}.${resource.group}`, error);
        }
        await clock.sleep(pauseMs, options.signal);
      }
    },
  };
}

function mayNotList(crd: string, cause: unknown): Error {
  return new Error(
    `crdvalidator may not list ${crd}: core with --crd-reader-role grants it while it runs; else grant it to the ServiceAccount of crdvalidator by a ClusterRole with the verb list`,
    { cause },
  );
}
