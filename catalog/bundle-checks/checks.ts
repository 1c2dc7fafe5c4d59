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
 * What `opm` and `operator-sdk` check of a registry+v1 bundle. Left out: `multiarch`, which pulls the
 * images of the operator, and the deprecated `operatorhub` and `community`, whose rules the others have.
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

/** Names of the checks that are made only where they are asked for. */
export const optionalChecks: readonly string[] = checks
  .filter(({ optional }) => optional)
  .map(({ name }) => name);
