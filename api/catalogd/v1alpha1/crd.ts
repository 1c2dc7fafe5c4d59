import {
  ageColumn,
  customResourceDefinition,
  installerLabel,
  readyColumns,
} from '../../crd/custom-resource-definition.ts';
import { exactlyOneOf, structuralSchema } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { catalogSpecSchema, catalogStatusSchema } from './catalog.ts';

/** The CustomResourceDefinition of Catalog. */
export function catalogCRD(): KubernetesObject {
  return customResourceDefinition({
    group: 'catalogd.operatorframework.io',
    version: 'v1alpha1',
    names: { kind: 'Catalog', listKind: 'CatalogList', plural: 'catalogs', singular: 'catalog' },
    labels: { [installerLabel.key]: installerLabel.value },
    description: 'Catalog is a file-based catalog of an image, fetched and served to the cluster.',
    spec: exactlyOneOf(structuralSchema(catalogSpecSchema), ['source'], ['image']),
    isSpecOptional: true,
    status: catalogStatusSchema,
    printerColumns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      ageColumn,
      { name: 'Image', type: 'string', jsonPath: '.spec.source.image.ref', priority: 1 },
      { name: 'Packages', type: 'integer', jsonPath: '.status.packages', priority: 1 },
      ...readyColumns,
    ],
  });
}
