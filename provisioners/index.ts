import type { Provisioner } from '../core/sdk.ts';
import registry from './registry/index.ts';

/** The classes that the stock manager serves. */
export const builtInProvisioners: readonly Provisioner[] = [registry];
