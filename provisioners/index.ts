import type { Provisioner } from '../core/sdk.ts';
import plain from './plain/index.ts';
import registry from './registry/index.ts';

/** The classes that the stock manager serves. */
export const builtInProvisioners: readonly Provisioner[] = [plain, registry];
