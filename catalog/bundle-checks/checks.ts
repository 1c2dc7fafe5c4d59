import { bundle } from './bundle.ts';
import type { Check } from './bundle-content.ts';
import { crd } from './crd.ts';
import { csv } from './csv.ts';
import { dependencies } from './dependencies.ts';
import { deprecatedApis } from './deprecated-apis.ts';
import { format } from './format.ts';
import { goodPractices, objects } from './good-practices.ts';
import { capabilities, categories, operatorHub } from './operator-hub.ts';
import { properties } from './properties.ts';

/**
 * The checks of `opm` and `operator-sdk` for a registry+v1 bundle. Omits `multiarch`, which pulls
 * images, and the deprecated `operatorhub` and `community`, whose rules the others have.
 */
export const checks: readonly Check[] = [
  format,
  dependencies,
  properties,
  csv,
  crd,
  bundle,
  operatorHub,
  capabilities,
  categories,
  deprecatedApis,
  goodPractices,
  objects,
];

/** Names of the checks that run only on request. */
export const optionalChecks: readonly string[] = checks
  .filter(({ optional }) => optional)
  .map(({ name }) => name);
