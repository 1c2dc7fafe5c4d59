export * from '../../../api/json-fields.ts';
