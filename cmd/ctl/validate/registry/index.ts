import { bundle } from './bundle.ts';
import { capabilities } from './capabilities.ts';
import { categories } from './categories.ts';
import type { Check } from './check.ts';
import { crd } from './crd.ts';
import { csv } from './csv.ts';
import { dependencies } from './dependencies.ts';
import { deprecatedApis } from './deprecated-apis.ts';
import { format } from './format.ts';
import { goodPractices } from './good-practices.ts';
import { objects } from './objects.ts';
import { operatorHub } from './operator-hub.ts';
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
