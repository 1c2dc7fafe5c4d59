import { stringAt } from '../../../../api/json-fields.ts';
import { error } from '../finding.ts';
import { placeOf } from './bundle-content.ts';
import { type Check } from './check.ts';

const levels = [
  'Basic Install',
  'Seamless Upgrades',
  'Full Lifecycle',
  'Deep Insights',
  'Auto Pilot',
];

/** The annotation that says how much an operator does by itself. */
export const capabilities: Check = {
  name: 'capabilities',
  summary: 'the annotation capabilities names a level',
  optional: true,
  find: ({ csv }) => {
    const level = stringAt(csv?.object.metadata.annotations, 'capabilities');
    if (csv === undefined || level === undefined || levels.includes(level)) return [];
    return [
      error({
        place: placeOf(csv, 'metadata', 'annotations', 'capabilities'),
        message: `csv.Metadata.Annotations.Capabilities "${level}" is not a valid capabilities level`,
        fix: `use one of ${levels.join(', ')}`,
      }),
    ];
  },
};
