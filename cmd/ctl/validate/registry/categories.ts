import { stringAt } from '../../../../api/json-fields.ts';
import { error } from '../finding.ts';
import { placeOf } from './bundle-content.ts';
import { type Check } from './check.ts';

const standard = [
  'AI/Machine Learning',
  'Application Runtime',
  'Big Data',
  'Cloud Provider',
  'Developer Tools',
  'Database',
  'Integration & Delivery',
  'Logging & Tracing',
  'Monitoring',
  'Modernization & Migration',
  'Networking',
  'OpenShift Optional',
  'Security',
  'Storage',
  'Streaming & Messaging',
  'Observability',
];

/** The annotation that consoles sort operators by. */
export const categories: Check = {
  name: 'categories',
  summary: 'the annotation categories names categories of OperatorHub',
  optional: true,
  find: ({ csv }) => {
    const written = stringAt(csv?.object.metadata.annotations, 'categories');
    if (csv === undefined || written === undefined) return [];
    return written
      .split(',')
      .filter((category) => !standard.includes(category.trim()))
      .map((category) =>
        error({
          place: placeOf(csv, 'metadata', 'annotations', 'categories'),
          message: `csv.Metadata.Annotations["categories"] value "${category}" is not in the set of standard categories`,
          fix: `use some of ${standard.join(', ')}`,
        }),
      );
  },
};
