/** `npm run build`: dist/ from src/. */
import { build, install } from './prepare.js';

install();
build();
