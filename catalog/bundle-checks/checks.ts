import type { Check } from './bundle-content.ts';
import { bundle } from './objects/bundle.ts';
import { crd } from './objects/crd.ts';
import { csv } from './objects/csv.ts';
import { dependencies } from './objects/dependencies.ts';
import { format } from './objects/format.ts';
import { properties } from './objects/properties.ts';
import { deprecatedApis } from './optional/deprecated-apis.ts';
import { goodPractices, objects } from './optional/good-practices.ts';
import { capabilities, categories, operatorHub } from './optional/operator-hub.ts';

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
