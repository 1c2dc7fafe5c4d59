import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildInfoFile, checkedOut, packageRoot } from './build-info.ts';

// Run by `npm pack`, because an installed package has no git repository.
const root = packageRoot(import.meta.dirname) ?? '.';
writeFileSync(join(root, buildInfoFile), `${JSON.stringify(checkedOut(root))}\n`);
