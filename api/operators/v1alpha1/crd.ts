import {
  ageColumn,
  customResourceDefinition,
  installerLabel,
  readyColumns,
} from '../../crd/custom-resource-definition.ts';
import { structuralSchema } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { operatorSpecSchema, operatorStatusSchema } from './operator.ts';

/** The CustomResourceDefinition of Operator. */
export function operatorCRD(): KubernetesObject {
  return customResourceDefinition({
    group: 'operators.operatorframework.io',
    version: 'v1alpha1',
    names: {
      kind: 'Operator',
      listKind: 'OperatorList',
      plural: 'operators',
      singular: 'operator',
    },
    labels: { [installerLabel.key]: installerLabel.value },
    description:
      'Operator keeps a package of the catalogs installed: it selects a bundle and makes a BundleDeployment of it.',
    spec: structuralSchema(operatorSpecSchema),
    isSpecOptional: true,
    status: operatorStatusSchema,
    printerColumns: [
      ageColumn,
      { name: 'Package', type: 'string', jsonPath: '.spec.packageName', priority: 1 },
      { name: 'Installed', type: 'string', jsonPath: '.status.installed.version' },
      { name: 'Available', type: 'string', jsonPath: '.status.available.version' },
      ...readyColumns,
    ],
  });
}
